// Material UI: a select, an autocomplete, a slider with a dialog, a date picker of the X package.
import { useState } from "react";
import { createRoot } from "react-dom/client";
import {
  Autocomplete, Button, Dialog, DialogActions, DialogTitle, FormControl, InputLabel, MenuItem,
  Select, Slider, Stack, TextField, Typography,
} from "@mui/material";
import { AdapterDayjs } from "@mui/x-date-pickers/AdapterDayjs";
import { DatePicker } from "@mui/x-date-pickers/DatePicker";
import { LocalizationProvider } from "@mui/x-date-pickers/LocalizationProvider";

const COUNTRIES = ["Austria", "Belgium", "Canada", "Denmark", "Finland", "Norway", "Peru", "Spain", "Sweden"];
window.state = { size: "", country: null, volume: 30, departure: null, deleted: false };

function App() {
  const [seen, show] = useState(window.state);
  const [asking, ask] = useState(false);
  const set = (more) => show((old) => (window.state = { ...old, ...more }));
  return (
    <LocalizationProvider dateAdapter={AdapterDayjs}>
      <Stack spacing={3} sx={{ width: 320, margin: 3 }}>
        <FormControl>
          <InputLabel id="size">Shirt size</InputLabel>
          <Select labelId="size" label="Shirt size" value={seen.size} onChange={(e) => set({ size: e.target.value })}>
            <MenuItem value="s">Small</MenuItem>
            <MenuItem value="m">Medium</MenuItem>
            <MenuItem value="l">Large</MenuItem>
          </Select>
        </FormControl>
        <Autocomplete
          options={COUNTRIES} value={seen.country} onChange={(_, country) => set({ country })}
          renderInput={(params) => <TextField {...params} label="Country" />}
        />
        <Typography id="volume">Volume</Typography>
        <Slider aria-labelledby="volume" value={seen.volume} onChange={(_, volume) => set({ volume })} />
        <DatePicker label="Departure" value={seen.departure} onChange={(departure) => set({ departure })} />
        <Button variant="contained" onClick={() => ask(true)}>Delete account</Button>
        <Dialog open={asking} onClose={() => ask(false)}>
          <DialogTitle>Delete this account for good?</DialogTitle>
          <DialogActions>
            <Button onClick={() => ask(false)}>Keep it</Button>
            <Button onClick={() => { set({ deleted: true }); ask(false); }}>Delete</Button>
          </DialogActions>
        </Dialog>
      </Stack>
    </LocalizationProvider>
  );
}
createRoot(document.getElementById("app")).render(<App />);
